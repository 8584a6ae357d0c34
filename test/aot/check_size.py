"""check_size.py MOST_MB ARCHIVE...: all archives together are smaller."""
import os
import sys

most = float(sys.argv[1])
# CMake joins those of a target with semicolons.
archives = [path for argument in sys.argv[2:] for path in argument.split(";")]
total = 0.0
for path in archives:
    size = os.path.getsize(path) / 1e6
    total += size
    print(f"{size:7.2f} MB  {os.path.basename(path)}")
print(f"{total:7.2f} MB  in {len(archives)} archives, of {most} MB at most")
if len(archives) < 15:
    sys.exit("expected an archive of each operator")
sys.exit(0 if total < most else "too large")
