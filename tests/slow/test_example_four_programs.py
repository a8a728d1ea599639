"""The four programs of an ordinary user, under faults and rate limits of the sandbox."""

from pathlib import Path

from tests.support.programs import run


def test_the_four_programs_get_through(tmp_path: Path) -> None:
    """Each program ends with its expected status, loses and repeats no item, and shows no secret."""
    printed = run("four_programs", folder=tmp_path)
    lines = [line.strip() for line in printed.stdout.splitlines()]
    for expected in (
        "GET /itwins/2 -> 503, Retry-After: 3",
        "CSV: 250 rows, 250 ids, 20 columns",
        "levels 3 to 20, query parameters kept: {'key': 'made-up'}",
        "password changed: BasicAuthentication(<hidden>)",
        "OutcomeUnknownError, scene_id kept: True",
        "BadRequestError, so the first request had arrived: sceneData.objects[0].id is not unique.",
        "objects of the scene: ['Layer', 'RepositoryResource']",
        "5 responses {200: 5} with 8 requests",
    ):
        assert expected in lines
    assert "made-up-" not in printed.stdout
    assert printed.stderr == ""
