__version__: str

from . import bounds as bounds
from . import decode as decode
from . import plots as plots
from .core.data.tokens.sequences import Sequences as Sequences
from .estimators.alignment.alignment import AlignmentSVM as AlignmentSVM
from .estimators.alignment.homology import HomologySVM as HomologySVM
from .estimators.kernel_svm import KernelSVM as KernelSVM
from .estimators.label_sets.multilabel import MultilabelSVM as MultilabelSVM
from .estimators.language.coreference import CoreferenceSVM as CoreferenceSVM
from .estimators.language.dependency import DependencySVM as DependencySVM
from .estimators.language.grammar import GrammarSVM as GrammarSVM
from .estimators.multiclass import MulticlassSVM as MulticlassSVM
from .estimators.network import NetworkSVM as NetworkSVM
from .estimators.path_cv import PathCV as PathCV
from .estimators.ranking.ranking import RankingSVM as RankingSVM
from .estimators.saving.checkpoint import Checkpoint as Checkpoint
from .estimators.saving.model_files import load as load
from .estimators.saving.model_files import save as save
from .estimators.sequences.chain import ChainSVM as ChainSVM
from .estimators.sequences.motif import MotifSVM as MotifSVM
from .estimators.sequences.segment import SegmentSVM as SegmentSVM
from .estimators.structural import StructuralSVM as StructuralSVM
from .io.model_file.archive import ModelFileError as ModelFileError
from .structures.chain.tokens.encoded_files import encode_sequences as encode_sequences
from .structures.chain.tokens.encoded_files import open_encoded as open_encoded
from .structures.check import check_structure as check_structure
