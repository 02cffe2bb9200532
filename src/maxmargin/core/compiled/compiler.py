"""How Numba compiles our loops: no more than is needed.

Numba makes machine code of each function, and links the same function, as LLVM's
intermediate code, into all functions that call it. Nothing ever runs the machine code of
a function that only other loops call, so none is made (`InnerCompiler`): such functions
are optimised once, in the loop that Python calls.

Numba counts references to each array that a function takes or makes. Functions that only
read and write arrays of their callers need no counts (`WithoutCounts`).
"""

from __future__ import annotations

from typing import Any

import llvmlite.binding as llvm
from numba.core import ir, types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.compiler_machinery import AnalysisPass, register_pass
from numba.core.typed_passes import IRLegalization

ENVIRONMENT = "_ZN08NumbaEnv"  # variables in which Numba gives a function its objects
UNRESOLVED = ".numba.unresolved$"  # a function that calls itself
VIEWS = ("getitem", "static_getitem", "typed_getitem")
PLAIN = ("cast", "build_tuple", "exhaust_iter", "getiter")


@register_pass(mutates_CFG=False, analysis_only=True)
class WithoutCounts(AnalysisPass):
    """Leave out counts of references where a function neither makes nor returns arrays."""

    _name = "without_counts"

    def __init__(self) -> None:
        AnalysisPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        """Switch the counts off; the code of the function is the same."""
        if not _makes_arrays(state):
            state.targetctx = state.targetctx.subtarget(enable_nrt=False)
        return False


def _makes_arrays(state: Any) -> bool:
    """Whether a function may own memory of which somebody must count the references."""
    models = state.targetctx.data_model_manager

    def counted(kind: Any) -> bool:
        return bool(models[kind].contains_nrt_meminfo())

    if counted(state.return_type):
        return True
    for block in state.func_ir.blocks.values():
        for step in block.body:
            if isinstance(step, ir.DynamicRaise | ir.DynamicTryRaise):
                return True
            if (
                isinstance(step, ir.Assign)
                and counted(state.typemap[step.target.name])
                and not _borrowed(step.value, state.typemap)
            ):
                return True
    return False


def _borrowed(value: Any, kinds: Any) -> bool:
    """Whether a value is, or looks into, what the function was given."""
    if not isinstance(value, ir.Expr):
        return isinstance(value, ir.Arg | ir.Var | ir.Const | ir.Global | ir.FreeVar)
    if value.op == "getattr":
        base = kinds[value.value.name]
        return isinstance(base, types.BaseTuple) or value.attr == "T"
    if value.op in VIEWS:
        index = value.index_var if value.op == "static_getitem" else value.index
        kind = kinds[index.name] if isinstance(index, ir.Var) else types.none
        parts: Any = kind if isinstance(kind, types.BaseTuple) else (kind,)
        return not any(isinstance(part, types.Array | types.List) for part in parts)
    return value.op in PLAIN


class EntryLibrary(JITCodeLibrary):
    """The code of a loop that Python calls; it is never linked into others."""

    def serialize_using_object_code(self: Any) -> tuple[str, str, tuple[bytes, bytes]]:
        """Machine code, and the names in it in place of all intermediate code."""
        self._ensure_finalized()
        names = _names_of(self._final_module)
        return self.name, "object", (self._get_compiled_object(), names.as_bitcode())


class InnerLibrary(JITCodeLibrary):
    """The code of an inner loop, to be linked; only its variables get addresses."""

    def _optimize_final_module(self) -> None:
        """Nothing: the loops that it is linked into are optimised."""

    def _finalize_final_module(self: Any) -> None:
        whole = self._final_module
        if not any(v.name.startswith(UNRESOLVED) for v in whole.global_variables):
            self._finalize_dynamic_globals()
            self._verify_declare_only_symbols()
            self._variables = self._final_module = _names_of(whole, functions=False)
        JITCodeLibrary._finalize_final_module(self)
        self._final_module = whole


def _names_of(module: Any, functions: bool = True) -> Any:
    """A module with the variables and the exported functions of another, all empty."""
    lines = [f'target triple = "{module.triple}"']
    lines.append(f'target datalayout = "{module.data_layout}"')
    for variable in module.global_variables:
        if variable.name.startswith(ENVIRONMENT):
            lines.append(f'@"{variable.name}" = common global i64 0')
    for function in module.functions if functions else ():
        if not function.is_declaration and function.linkage == llvm.Linkage.external:
            lines.append(f'define void @"{function.name}"() {{ ret void }}')
    made = llvm.parse_assembly("\n".join(lines))
    made.name = module.name
    return made


class LoopCompiler(Compiler):
    """Numba's compiler, for loops that Python calls."""

    library: type[JITCodeLibrary] = EntryLibrary

    def define_pipelines(self) -> Any:
        """Numba's passes and ours, with a library of our own."""
        state = self.state
        state.library = self.library(
            state.targetctx.codegen(), state.func_id.func_qualname
        )
        state.library.enable_object_caching()
        (passes,) = Compiler.define_pipelines(self)
        passes.add_pass_after(WithoutCounts, IRLegalization)
        passes.finalize()
        return [passes]


class InnerCompiler(LoopCompiler):
    """The compiler for what other loops call."""

    library = InnerLibrary
