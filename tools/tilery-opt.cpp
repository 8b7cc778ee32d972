// Runs any pass on text: tilery-opt --pass-pipeline='...' file.mlir
#include "add_layouts.h"
#include "compiler/block/ir/Block.h"
#include "compiler/block/passes/passes.h"
#include "compiler/passes/passes.h"
#include "tilery/diagnostic.h"
#include "tilery/environment.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  try {
    tilery::checkEnvironment();
  } catch (const tilery::Error &error) {
    llvm::errs() << "error: " << error.what() << "\n";
    return 1;
  }
  mlir::DialectRegistry registry;
  registry.insert<tilery::tile::TileDialect, tilery::block::BlockDialect, mlir::arith::ArithDialect, mlir::math::MathDialect,
                  mlir::scf::SCFDialect, mlir::ub::UBDialect>();
  mlir::registerTransformsPasses();
  tilery::registerTilePasses();
  tilery::block::registerBlockPasses();
  mlir::registerPass(tilery::createAddLayouts);
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "tilery: tile IR optimiser\n", registry));
}
