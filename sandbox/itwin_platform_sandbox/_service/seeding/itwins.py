"""iTwins: one Account, below it Portfolios, Programs and Assets, below them Projects and WorkPackages."""

import random
from datetime import UTC, datetime, timedelta

from ..json_values import JSON, JSONObject
from ..state import Platform, new_uuid, time_text

# city, time zone, data center, latitude, longitude
CITIES = (
    ("Bergen", "Europe/Oslo", "North Europe", 60.39, 5.32),
    ("Rotterdam", "Europe/Amsterdam", "West Europe", 51.92, 4.48),
    ("Leeds", "Europe/London", "UK South", 53.8, -1.55),
    ("Philadelphia", "America/New_York", "East US", 39.95, -75.17),
    ("Montréal", "America/Toronto", "Canada Central", 45.5, -73.57),
    ("Pune", "Asia/Kolkata", "Central India", 18.52, 73.86),
    ("Singapore", "Asia/Singapore", "Southeast Asia", 1.35, 103.82),
    ("Brisbane", "Australia/Brisbane", "Australia East", -27.47, 153.03),
    ("Yokohama", "Asia/Tokyo", "Japan East", 35.44, 139.64),
)
STRUCTURES = ("Harbour Bridge", "Ring Road", "Water Works", "Metro Line", "Wind Farm", "Airport", "Hospital", "Dam")
CLASS_OF = {
    "Account": "Account",
    "Portfolio": "Thing",
    "Asset": "Thing",
    "Program": "Endeavor",
    "Project": "Endeavor",
    "WorkPackage": "Endeavor",
}
# The repeated sequence of subclasses, and the subclass of the parent of each.
SEQUENCE = ("Portfolio", "Asset", "Program", "Project", "Project", "WorkPackage", "Asset", "Project")
PARENT_OF = {
    "Portfolio": "Account",
    "Asset": "Portfolio",
    "Program": "Account",
    "Project": "Program",
    "WorkPackage": "Project",
}
TRIAL_EVERY = 20
INACTIVE_SHARE = 10  # one extra Inactive iTwin for every ten others, at least one
SPARSE_EVERY = 7  # every seventh iTwin has null in several fields that allow it
TYPES = (None, "Bridge", "Road", None, "Utility")
FIRST_DAY = datetime(2019, 3, 4, 8, 30, tzinfo=UTC)


def seed_itwins(platform: Platform, count: int, source: random.Random, *, as_seen: bool) -> str:
    """Store the iTwins; return the id of the one that owns the other seeded data."""
    latest: dict[str, str] = {}
    for index in range(count + max(1, count // INACTIVE_SHARE)):
        sub_class = SEQUENCE[(index - 1) % len(SEQUENCE)] if index else "Account"
        itwin_id = new_uuid(source)
        if as_seen:
            itwin_id = f"{itwin_id[:14]}9{itwin_id[15:28]}00000000"
        itwin = _itwin(platform, index, sub_class, latest, itwin_id)
        itwin["status"] = "Inactive" if index >= count else "Trial" if index % TRIAL_EVERY == 7 else "Active"
        platform.itwins[itwin_id] = itwin
        if index < count:
            latest[sub_class] = itwin_id
        platform.account_id = latest["Account"]
    return next((key for key, itwin in platform.itwins.items() if itwin["subClass"] == "Project"), platform.account_id)


def _itwin(platform: Platform, index: int, sub_class: str, latest: dict[str, str], itwin_id: str) -> JSONObject:
    city, zone, center, latitude, longitude = CITIES[index % len(CITIES)]
    account_id = latest.get("Account", itwin_id)
    parent: JSON = latest.get(PARENT_OF[sub_class], account_id) if index else None
    created = FIRST_DAY + timedelta(hours=index, milliseconds=index * 37 % 1000)
    has_image = index % 3 == 1
    is_sparse = index % SPARSE_EVERY == 6
    structure = STRUCTURES[index // len(CITIES) % len(STRUCTURES)]
    return {
        "id": itwin_id,
        "class": CLASS_OF[sub_class],
        "subClass": sub_class,
        "type": TYPES[index % len(TYPES)],
        "number": f"{sub_class[:3].upper()}-{index:06d}",
        "displayName": f"{city} {structure} {index}" if index else "Northwind Engineering",
        "status": "Active",
        "geographicLocation": None if is_sparse else city,
        "latitude": None if is_sparse else latitude,
        "longitude": None if is_sparse else longitude,
        "ianaTimeZone": None if is_sparse else zone,
        "dataCenterLocation": center,
        "parentId": parent,
        "iTwinAccountId": account_id,
        "imageName": f"{structure.lower().replace(' ', '-')}.png" if has_image else None,
        "image": f"https://images.example.com/{structure.lower().replace(' ', '-')}.png" if has_image else None,
        "createdDateTime": time_text(created),
        "createdBy": None if is_sparse else platform.user_id,
        "lastModifiedDateTime": time_text(created + timedelta(days=index % 400)),
        "lastModifiedBy": platform.user_id,
    }
