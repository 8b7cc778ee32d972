#ifndef BLOCK_ROLE_TD
#define BLOCK_ROLE_TD
include "compiler/block/ir/BlockTypes.td"

defvar Block_Meets = MemoryEffects<[MemRead<Synchronisation>, MemWrite<Synchronisation>, MemWrite<BufferMemory>, MemWrite<GlobalMemory>]>;

def Block_RolesOp : Block_Op<"roles", [RecursiveMemoryEffects, NoTerminator, SingleBlock, SymbolTable, NoRegionArguments]> {
  let summary = "roles that run side by side, in warps one after the other; done when all are";
  let description = "Rings, batons and clusters order their effects, nothing else does.";
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$body attr-dict";
  let hasRegionVerifier = 1;
}
def Block_RoleOp : Block_Op<"role", [RecursiveMemoryEffects, Symbol, HasParent<"RolesOp">, SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "code of `warps` warps, in as many copies as there are instances";
  let description = [{
    Each instance has `warps` warps and `registers` registers a thread (those that the launch gives, without it); the region's argument, where it has
    one, is the number of the instance. A role without tiles runs in one thread of its first warp.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, ConfinedAttr<I32Attr, [IntPositive]>:$warps, OptionalAttr<ConfinedAttr<I32Attr, [IntPositive]>>:$registers,
                   OptionalAttr<ConfinedAttr<I32Attr, [IntPositive]>>:$instances);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name `warps` $warps (`registers` $registers^)? (`instances` $instances^)? $body attr-dict";
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    unsigned instanceCount() { return getInstances().value_or(1); }
    /// Of all instances.
    unsigned allWarps() { return getWarps() * instanceCount(); }
  }];
}
def Block_ProgramsOp : Block_Op<"programs", [RecursiveMemoryEffects, SingleBlockImplicitTerminator<"YieldOp">, AttrSizedOperandSegments, Block_Inferring]> {
  let summary = "runs the region for each program of this block";
  let description = [{
    The region takes the program's coordinates (three i32) and the carried values, which it yields. All blocks together run each program once;
    `order` says how they are dealt: as the grid counts them, in groups of `group` rows, or those with most steps first. The order is the same in all roles.
    `grouped` needs to know how numbers of programs run over tiles: each `plane` of them, `inner` by `inner`, which are neighbours along rows of
    tiles (`by_rows`: they differ in the row) or along columns. Without it, as the first axis of the grid counts rows. Only speed depends on it.
    `longest` may be told that steps follow from the first coordinate alone, more the larger it is (`by_rows`) or the smaller, and in sections of
    how many rows of the grid (`inner`; `plane` programs) programs are ordered, so that what a section reads stays in L2. Blocks then run one program each.
  }];
  let arguments = (ins Block_Order:$order, OptionalAttr<ConfinedAttr<I32Attr, [IntPositive]>>:$group,
                   Optional<I32>:$inner, Optional<I1>:$by_rows, Optional<I32>:$plane, Variadic<AnyType>:$inits);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$order (`by` $group^)? (`order` `(` $inner^ `,` $by_rows `,` $plane `)`)? (`iter` `(` $inits^ `:` type($inits) `)`)? $body attr-dict";
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::Block::BlockArgListType getCarried() { return getBody().getArguments().drop_front(3); }
  }];
}
def Block_ReturnIfOp : Block_Op<"return_if", [Block_Meets, HasParent<"tile::KernelOp">]> {
  let summary = "programs for which it holds end here";
  let description = [{
    Stands in the kernel's body, for a branch around all the rest: passes then find loops and stores where they are in other programs. `order-programs`
    makes the branch of it again.
  }];
  let arguments = (ins I1:$condition);
  let assemblyFormat = "$condition attr-dict";
}
def Block_BatonOp : Block_Op<"baton", [MemoryEffects<[MemAlloc<Synchronisation>]>]> {
  let summary = "starts with instance 0";
  let description = "See `turn`.";
  let results = (outs Block_Baton:$result);
  let assemblyFormat = "attr-dict";
}
def Block_TurnOp : Block_Op<"turn", [RecursiveMemoryEffects, SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "instances of a role (of one instance: its warpgroups) execute the region by turns";
  let description = "Each waits for its turn, runs the region, hands the baton on. Nothing but `take` and `mma_settle` waits inside. The results are what the region yields.";
  let arguments = (ins Block_Baton:$baton);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$baton $body attr-dict (`:` type($results)^)?";
  let hasRegionVerifier = 1;
}
def Block_SyncOp : Block_Op<"sync", [Block_Meets]> {
  let summary = "the threads of a role (without roles: of the block) meet; effects before are visible after";
  let description = [{
    Placed where threads read shared memory that others have written. With `warps`: the threads of each so many neighbouring warps meet by
    themselves. The oracle's roles are one thread each: nothing to wait for.
  }];
  let arguments = (ins OptionalAttr<ConfinedAttr<I32Attr, [IntPositive]>>:$warps);
  let assemblyFormat = "(`warps` $warps^)? attr-dict";
  let hasVerifier = 1;
}
def Block_FenceOp : Block_Op<"fence", [Block_Meets]> {
  let summary = "what threads have written is visible to the copy engine and the tensor cores";
  let description = "Nothing to do for the oracle.";
  let assemblyFormat = "attr-dict";
}
def Block_ClusterRankOp : Block_Op<"cluster_rank", [Pure]> {
  let summary = "the number of this block in its cluster (i32)";
  let description = "0 <= result < the kernel's `block.cluster`.";
  let results = (outs I32:$result);
  let assemblyFormat = "attr-dict";
  let hasVerifier = 1;
}
def Block_ClusterSyncOp : Block_Op<"cluster_sync", [Block_Meets]> {
  let summary = "the blocks of a cluster meet";
  let description = "Every role that executes it once does so in each block of the cluster; effects before are visible after.";
  let assemblyFormat = "attr-dict";
  let hasVerifier = 1;
}
def Block_YieldOp : Block_Op<"yield", [Pure, Terminator, ReturnLike, ParentOneOf<["RoleOp", "ProgramsOp", "TurnOp"]>]> {
  let summary = "ends a region of a block op";
  let description = "Its operands are what the region gives.";
  let arguments = (ins Variadic<AnyType>:$operands);
  let assemblyFormat = "attr-dict ($operands^ `:` type($operands))?";
  let builders = [OpBuilder<(ins), "build($_builder, $_state, ::mlir::ValueRange());">];
}
#endif
