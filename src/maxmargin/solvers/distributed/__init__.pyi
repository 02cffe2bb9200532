from .cocoa import Cocoa as Cocoa
from .shards import Reply as Reply
from .shards import improve_shard as improve_shard
