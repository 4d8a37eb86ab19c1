r"""A small class-conditional denoiser of 8x8 digits, preconditioned as EDM.

The network :math:`F_\theta` sees unit-variance inputs and is asked for unit-variance outputs at
every noise level :math:`\sigma`, where :math:`x = x_0 + \sigma\epsilon` and :math:`s` is the
standard deviation of the data:

.. math::
    \hat x_0(x, \sigma) = c_{skip} x + c_{out} F_\theta(c_{in} x, \sigma), \quad
    c_{skip} = \frac{s^2}{\sigma^2 + s^2},\;
    c_{out} = \frac{\sigma s}{\sqrt{\sigma^2 + s^2}},\;
    c_{in} = \frac{1}{\sqrt{\sigma^2 + s^2}}

:math:`F_\theta` is a residual MLP whose blocks are modulated by the level and the class (adaLN)::

    x <- x + gate * Linear(silu(Linear(shift + scale * LayerNorm(x))))

with the shifts, scales and gates of all blocks from one linear map. Six operations per block: a
call on a few rows is bound by their number, so that 16 rows cost little more than two calls on one
row on a single CPU thread.

The digits have seventeen shades, :math:`\Delta = 1/8` apart. Where the noise is finer than that,
the place of a noisy pixel between two shades says most about the clean one, and a network sees it
best as a wave (as in VDM): next to :math:`c_{in} x` it is given
:math:`e^{-(2\pi\sigma/\Delta)^2/2}` times the sine and cosine of :math:`2\pi x/\Delta`. The
factor is what noise leaves of a wave, so that larger levels are not disturbed.

References:
    Elucidating the Design Space of Diffusion-Based Generative Models (Karras et al., 2022),
        https://arxiv.org/abs/2206.00364, section 5
    Scalable Diffusion Models with Transformers (Peebles and Xie, 2023),
        https://arxiv.org/abs/2212.09748, section 3.2
    Variational Diffusion Models (Kingma et al., 2021), https://arxiv.org/abs/2107.00630, appendix C
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import LongTensor, Tensor, nn
from torch.nn import functional as F

NULL_CLASS = 10
SHAPE = (1, 8, 8)


@dataclass(frozen=True)
class DigitsConfig:
    """Sizes of a digits denoiser.

    Attributes:
        width: Features of the residual stream.
        hidden: Features inside a block.
        depth: Number of blocks.
        embedding: Features of the (level, class) embedding; even.
        sigma_data: Standard deviation of the data, in pixel units of [-1, 1].
        dropout: Probability of dropping a hidden feature in training.
        shade: Distance of two shades of the data, in the same units.
    """

    width: int = 256
    hidden: int = 256
    depth: int = 6
    embedding: int = 128
    sigma_data: float = 0.752
    dropout: float = 0.0
    shade: float = 0.125


class DigitsDenoiser(nn.Module):
    r"""Denoiser :math:`\hat x_0(x, \sigma, c)` of 8x8 digits in [-1, 1].

    Args:
        config: Sizes of the network.
    """

    # Frequencies are in cycles per unit of ln(level) / 4; the levels outside are embedded as the
    # nearest of these.
    level_range = (5e-3, 80.0)
    frequencies: Tensor
    phases: Tensor

    def __init__(self, config: DigitsConfig) -> None:
        super().__init__()
        self.config = config
        width, features = config.width, config.embedding
        self.register_buffer("frequencies", torch.empty(0), persistent=False)
        self.register_buffer("phases", torch.empty(0), persistent=False)
        self._set_waves()
        self.level_in = nn.Linear(features, features)
        self.class_in = nn.Embedding(NULL_CLASS + 1, features)
        self.modulation = nn.Linear(features, 3 * width * config.depth)
        self.stem = nn.Linear(3 * math.prod(SHAPE), width)
        self.up = nn.ModuleList(nn.Linear(width, config.hidden) for _ in range(config.depth))
        self.down = nn.ModuleList(nn.Linear(config.hidden, width) for _ in range(config.depth))
        self.head_norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, math.prod(SHAPE))
        self._initialise()

    def _set_waves(self) -> None:
        """Frequencies (octaves 1/8 to 4) and phases (cosine, sine) of the level, in float32."""
        half, device = self.config.embedding // 2, self.frequencies.device
        octaves = torch.logspace(-3, 2, half, base=2.0, device=device)
        self.frequencies = octaves.repeat(2) * (2 * math.pi / 4)
        self.phases = torch.tensor([0.0, -math.pi / 2], device=device).repeat_interleave(half)

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> DigitsDenoiser:
        # A change of dtype would round the frequencies, whose products are phases of tens of
        # radians.
        super()._apply(fn, recurse)
        self._set_waves()
        return self

    def _initialise(self) -> None:
        nn.init.normal_(self.class_in.weight, std=0.5)
        nn.init.normal_(self.modulation.weight, std=0.02)
        nn.init.zeros_(self.head.weight)
        # Blocks start with shift 0, scale 1 and a small gate.
        start = torch.tensor([0.0, 1.0, 0.3]).repeat(self.config.depth)
        self.modulation.bias.data.copy_(start.repeat_interleave(self.config.width))

    def _embed(self, level: Tensor, label: Tensor | None) -> Tensor:
        """Embedding (R, e) of level (R, 1) and label (R,), in the dtype of the weights."""
        log_level = level.float().clamp(*self.level_range).log()
        waves = torch.addcmul(self.phases, log_level, self.frequencies).cos()
        classes = self.class_in.weight
        chosen = classes[NULL_CLASS] if label is None else F.embedding(label, classes)
        return F.silu(self.level_in(waves.to(classes.dtype)) + chosen)

    def _features(self, x: Tensor, level: Tensor, scaled: Tensor) -> Tensor:
        """Features (R, 192): scaled = c_in x (R, 64), and the faded waves of x (R, 64)."""
        frequency = 2 * math.pi / self.config.shade
        fade = torch.exp(level.square() * (-0.5 * frequency**2))
        phase = x * frequency
        return torch.cat((scaled, phase.sin() * fade, phase.cos() * fade), dim=1)

    def _network(self, features: Tensor, embedding: Tensor) -> Tensor:
        """Network F of features (R, 192) and embedding (R, e), in the dtype of the weights."""
        width = (self.config.width,)
        modulation = self.modulation(embedding).chunk(3 * self.config.depth, dim=-1)
        h = self.stem(features)
        for block, (up, down) in enumerate(zip(self.up, self.down, strict=True)):
            shift, scale, gate = modulation[3 * block : 3 * block + 3]
            inner = F.silu(up(torch.addcmul(shift, scale, F.layer_norm(h, width))))
            if self.training and self.config.dropout > 0:
                inner = F.dropout(inner, self.config.dropout)
            h = torch.addcmul(h, gate, down(inner))
        return self.head(self.head_norm(h))

    def forward(self, x: Tensor, level: Tensor, label: LongTensor | Tensor | None = None) -> Tensor:
        r"""Predict the clean digit :math:`\hat x_0`.

        Args:
            x: Noisy digits, shape (R, 1, 8, 8).
            level: Noise level sigma of each row, shape (R,). Trained on [0.01, 40].
            label: Class of each row, shape (R,), int64 in 0..10, where 10 is "no class". None:
                10 for all rows.

        Returns:
            The predictions, shape (R, 1, 8, 8), in the dtype of x.

        Raises:
            ValueError: A shape differs from the above.
        """
        if x.shape[1:] != SHAPE or level.shape != x.shape[:1]:
            seen = f"{tuple(x.shape)} and {tuple(level.shape)}"
            raise ValueError(f"x must have shape (R, 1, 8, 8) and level (R,); got {seen}")
        if label is not None and label.shape != level.shape:
            seen, wanted = tuple(label.shape), tuple(level.shape)
            raise ValueError(f"label must have shape {wanted}, one class a row; got {seen}")
        s = self.config.sigma_data
        noise = (level if level.dtype == torch.float64 else level.float()).unsqueeze(1)
        c_in = (noise.square() + s * s).rsqrt()
        pixels = x.flatten(1).to(noise.dtype)
        scaled = pixels * c_in
        features = self._features(pixels, noise, scaled).to(self.stem.weight.dtype)
        out = self._network(features, self._embed(noise, label))
        # c_skip x + c_out F with the common factor c_in s taken out.
        return (torch.add(out * noise, scaled, alpha=s) * (c_in * s)).to(x.dtype).view_as(x)
