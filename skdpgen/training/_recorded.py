"""The mean embedding of generated rows as one recorded piece of work, on a GPU."""

from collections.abc import Callable, Mapping
from contextlib import suppress

import torch
from torch import Tensor, nn

WORTH_IT = 500  # steps; a recording takes as long as some ten of them

Embedding = Mapping[str, Tensor]  # block name -> (n_classes, width)
Embed = Callable[..., Embedding]  # from outputs and a number of groups


class Embedded(nn.Module):
    """From latent vectors to the mean embedding of each class that they generate.

    Parameters
    ----------
    generator : Module
        From latent vectors and labels to a list of outputs.
    embed : callable
        From those outputs, ordered by class, to the mean embedding of each class.
    labels : Tensor
        Of every batch.
    n_classes : int

    Examples
    --------
    >>> def embed(outputs, n_parts):
    ...     return {"means": outputs[0].unflatten(0, (n_parts, -1)).mean(dim=1)}
    >>> class Sum(nn.Module):
    ...     def forward(self, latents, labels):
    ...         return [latents + labels[:, None]]
    >>> embedded = Embedded(Sum(), embed, torch.tensor([0, 0, 1, 1]), 2)
    >>> embedded.by_name(torch.zeros(4, 1))
    {'means': tensor([[0.],
            [1.]])}
    """

    def __init__(
        self, generator: nn.Module, embed: Embed, labels: Tensor, n_classes: int
    ) -> None:
        super().__init__()
        self.generator, self._embed = generator, embed
        self._labels, self._n_classes = labels, n_classes
        self._names: tuple[str, ...] = ()

    def forward(self, latents: Tensor) -> tuple[Tensor, ...]:
        """Return the means of each block."""
        means = self._embed(self.generator(latents, self._labels), self._n_classes)
        self._names = tuple(means)
        return tuple(means.values())

    def by_name(self, latents: Tensor) -> dict[str, Tensor]:
        """Return the means of each block by its name."""
        means = self(latents)
        return dict(zip(self._names, means, strict=True))

    def record(self, n_latent: int) -> None:
        """Record the operations of a batch, forward and backward, to be played again.

        A step is some hundred small operations. A GPU is done with each of them before
        the processor has ordered the next one; a recording is ordered at once. It is
        right only if every batch takes the same operations, which draw nothing. Where
        an operation cannot be recorded, all are ordered one by one, as before.
        """
        made_up = torch.zeros(len(self._labels), n_latent, device=self._labels.device)
        state = {k: v.clone() for k, v in self.generator.state_dict().items()}
        now = torch.cuda.stream(torch.cuda.current_stream())  # also after an error
        with now, suppress(RuntimeError):
            torch.cuda.make_graphed_callables(self, (made_up,))
        self.generator.load_state_dict(state)  # recording moved running means
