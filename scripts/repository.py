"""The files of the repository, for the lints."""
import subprocess
import sys


def files_of_tree(root):
    """What git tracks and what it would add, but what was deleted, in a tree of any owner. Where git cannot tell, the lint is skipped."""
    command = ["git", "-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        said = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"skipped: git cannot list the files: {getattr(error, 'stderr', None) or error}".strip())
        sys.exit(77)
    return [name for name in filter(None, said.stdout.split("\0")) if (root / name).is_file()]
