import os
import lit.formats

config.name = "tilewright"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.build_folder, "tests", "lit", "output")
config.environment["PATH"] = os.pathsep.join(
    [os.path.join(config.build_folder, "bin"), config.llvm_tools, config.environment["PATH"]])
