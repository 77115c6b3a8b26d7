"""``skdpgen bench peers``: environments of what methods are compared with."""

import click

from skdpgen.benchmark._rival_runner import RIVALS


@click.group("peers")
def command() -> None:
    """Install what methods are compared with, each in an environment of its own.

    They are MST, AIM and PrivBayes of dpmm, and two GANs of SmartNoise. Nothing of
    ours depends on them, and they never meet our packages. SKDPGEN_PEERS names a
    folder other than the user's cache.
    """


@command.command("install")
@click.argument("peers", nargs=-1, required=True, type=click.Choice(list(RIVALS)))
def install(peers: tuple[str, ...]) -> None:
    """Make the environments of PEERS anew; some of them share one."""
    from skdpgen.benchmark._peers import install_peer

    for package in dict.fromkeys(RIVALS[peer][0] for peer in peers):
        peer = next(one for one in peers if RIVALS[one][0] == package)
        folder = install_peer(peer)
        has = ", ".join(one for one in RIVALS if RIVALS[one][0] == package)
        click.echo(f"{folder} has {package}: {has}.")


@command.command("list")
def listed() -> None:
    """Say which peers there are, and which are installed."""
    from skdpgen.benchmark._peers import python_in

    for peer, (package, *_) in RIVALS.items():
        python = python_in(package)
        told = python.parent.parent if python.exists() else "not installed"
        click.echo(f"{peer}: {package}, {told}")
