"""What the sandbox has made up where the description is silent.

Each rule of `inferred.json` has a name, with which the record of a request says that it decided the response, so that
no test relies on it unknowingly. `docs/sandbox-inferred.md` shows them.
"""

import json
from collections.abc import Mapping

from .data_files import data_file

INFERRED: Mapping[str, str] = json.loads(data_file("_service/inferred.json"))
