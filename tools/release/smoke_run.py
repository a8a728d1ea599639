"""Call all eight operations of the sandbox with the installed packages."""

import asyncio

import itwin_platform
from itwin_platform import HeaderAuthentication, PlatformClient, UsageError
from itwin_platform_sandbox import Sandbox


async def main() -> None:
    """Call each operation once, and check the results."""
    async with Sandbox(itwins=25, objects=10) as sandbox:
        async with PlatformClient(sandbox.base_url, vendor="sandbox", token=sandbox.token) as platform:
            itwin_id, repository_id = sandbox.itwin_id, sandbox.repository_id
            account = await platform.itwins.get_primary_account()
            listed = await platform.itwins.list(page_size=10).collect()
            repository = await platform.repositories.update(
                itwin_id, repository_id, authentication=HeaderAuthentication(key="k", value="v")
            )
            resource = await platform.repositories.create_resource(itwin_id, repository_id, id="a/b", display_name="A")
            scene = await platform.scenes.create(itwin_id, display_name="S", objects=[])
            objects = await platform.scenes.list_objects(sandbox.scene_id, itwin_id, page_size=4).collect()
            detector = await platform.detectors.create(name="D", type="PhotoObjectDetector")
            webhook = await platform.webhooks.activate(sandbox.webhook_id)
            checks: tuple[bool, ...] = (
                *(account.id == sandbox.account_id, len(listed) == 25, repository.authentication is not None),
                *(resource.id == "a/b", scene.display_name == "S", len(objects) == 10),
                *(detector.versions == [], webhook.active is True, len(sandbox.requests) == 12),
            )
            try:
                await platform.scenes.create(itwin_id, display_name="S", id="no UUID")
            except UsageError:
                checks = (*checks, True)
        if not all(checks) or len(checks) != 10:
            raise SystemExit(f"a check failed: {checks}")
    print(f"itwin_platform {itwin_platform.__version__}: eight operations, {len(sandbox.requests)} requests")


asyncio.run(main())
