"""The child process: runs an engine's declarations apart from us, and prints what they answer.

Started as `python -I -S child.py` with a request as JSON on its input: `path` and `package` of the
release, `home` (the folder that holds attnmatrix), `limit_s`, `every_gpu`. It answers with JSON on
its output. Whatever the foreign code prints goes to the error output; it gets no network, no other
process, no file but the release's, and no environment variable.
"""

from __future__ import annotations

import json
import os
import sys


def main() -> None:
    """Answers the request on standard input."""
    request = json.load(sys.stdin)
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    sys.path[:] = [request["home"], *sys.path]
    from attnmatrix.audit import asking, confine, standins, tree

    sys.path.remove(request["home"])  # third-party packages may lie there, too
    try:
        found = tree.open_tree(request["path"], request["package"])
        _ = (
            found.folders,
            found.extensions,
            found.requirements,
            found.version,
        )  # read while files may be looked for
        confine.confine(found, request["limit_s"])
        result = asking.read(found, request["every_gpu"])
    except tree.AuditError as error:
        result = {"error": str(error)}
    except (Exception, standins.Unknown) as error:  # of its registry: a backend's are its answers
        result = {"error": f"{request['path']}: {asking.why(error)['unknown']}"}
    json.dump(result, answers)
    answers.close()
    sys.stderr.flush()
    os._exit(0)  # foreign exit handlers have no say


if __name__ == "__main__":
    main()
