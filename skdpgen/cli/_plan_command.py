"""``skdpgen plan``: what to expect of a fit, before any row is read."""

import click


@click.command("plan")
@click.option("-n", "--rows", type=click.IntRange(2), required=True)
@click.option("--columns", type=click.IntRange(1), required=True)
@click.option("--classes", type=click.IntRange(1), default=2, show_default=True)
@click.option("--epsilon", type=float, default=1.0, show_default=True)
@click.option("--delta", type=float)
@click.option(
    "--adjacency",
    type=click.Choice(["replace", "add_remove"]),
    default="replace",
    show_default=True,
)
@click.option("--with-schema", is_flag=True, help="A complete schema will be given.")
def command(
    rows: int,
    columns: int,
    classes: int,
    epsilon: float,
    delta: float | None,
    adjacency: str,
    with_schema: bool,
) -> None:
    """Estimate the noise of a fit of ROWS rows and COLUMNS columns. Reads no file."""
    from skdpgen import plan

    click.echo(
        plan(
            rows,
            columns,
            epsilon,
            delta,
            adjacency=adjacency,
            is_schema_public=with_schema,
            classes=classes,
        )
    )
