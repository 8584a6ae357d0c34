"""A module of its own because lit's worker processes unpickle it."""

import lit.formats


class FilesOfTestFolders(lit.formats.ShTest):
    """Only what lies in a folder named `test`; every such file must RUN."""

    def getTestsInDirectory(self, suite, path, lit_config, local_config):
        if "test" in path:
            yield from super().getTestsInDirectory(suite, path, lit_config,
                                                   local_config)
