# lit configuration: ./run test sets TILERY_BUILD_DIR.
import os

import lit.formats

config.name = "ir"
config.suffixes = [".mlir"]
config.test_format = lit.formats.ShTest(execute_external=False)
config.test_source_root = os.path.dirname(__file__)
build = os.environ.get("TILERY_BUILD_DIR", os.path.join(config.test_source_root, "..", "..", "build"))
config.test_exec_root = os.path.join(build, "tests", "ir")
config.environment["PATH"] = os.pathsep.join([build, "/usr/lib/llvm-22/bin", os.environ["PATH"]])
