import { gradient, mix } from './colour.ts';
import type { Dice } from './dice.ts';
import { fieldOf } from './field.ts';
import type { Frame, PaintRow } from './frame.ts';
import { fractal, noiseFrom } from './noise.ts';
import { type Palette, tonesOf } from './palette.ts';

const steps = 4096;

/**
 * Paints folds of cloth in the tones of the palette. The shape of the cloth is noise whose coordinates are
 * shifted by other noise. The cloth shines where its slope faces the light.
 */
export function silkPainter(frame: Frame, palette: Palette, dice: Dice): PaintRow {
  const noise = noiseFrom(dice);
  const angle = dice.between(0.3, 1.1) * (dice.chance(0.5) ? 1 : -1);
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  const zoom = dice.between(0.95, 1.35);
  const folds = dice.between(1.5, 2.4);
  const cloth = (x: number, y: number) => {
    const [u, v] = [(x * cos + y * sin) * zoom, (y * cos - x * sin) * zoom * 1.7];
    const p = fractal(noise, u * 0.7 + 3, v * 0.5, 2);
    const q = fractal(noise, u * 0.6 + 1.3 * p + 30, v * 0.9 + 0.9 * p, 2);
    return v * 0.42 + 0.85 * q + 0.25 * p;
  };
  const tone = fieldOf(frame, 300, (x, y) => cloth(x, y));
  const light = fieldOf(frame, 300, (x, y) => {
    const [h, e] = [Math.sin(cloth(x, y) * folds * 6.283), 0.012];
    const dx = (Math.sin(cloth(x + e, y) * folds * 6.283) - h) / e;
    const dy = (Math.sin(cloth(x, y + e) * folds * 6.283) - h) / e;
    // The slope of the folds toward a light from above and from the left, as the sine of its angle.
    return (dx * 0.55 + dy * 0.83) / Math.sqrt(dx * dx + dy * dy + 30);
  });
  return shadePainter(frame, palette, tone, light);
}

function shadePainter(
  frame: Frame,
  palette: Palette,
  tone: ReturnType<typeof fieldOf>,
  light: ReturnType<typeof fieldOf>,
): PaintRow {
  const tones = tonesOf(palette);
  const ramp = gradient(tones, steps);
  const [shade, sheen] = [mix(palette.near, [0, 0, 0], 0.25), mix(palette.disc, [255, 255, 255], 0.4)];
  const [values, lights] = [new Float32Array(frame.width), new Float32Array(frame.width)];
  return (y, row) => {
    tone.readRow(y + 0.5, values);
    light.readRow(y + 0.5, lights);
    for (let x = 0, p = 0; p < row.length; x++, p += 3) {
      const lit = lights[x] ?? 0;
      const at = 0.52 + 0.42 * Math.sin((values[x] ?? 0) * 2.6) + 0.2 * lit;
      const c = (((at < 0 ? 0 : at > 1 ? 1 : at) * (steps - 1)) | 0) * 3;
      const dark = lit < 0 ? lit * lit * 0.3 : 0;
      const bright = lit > 0 ? lit * lit * lit * lit * 0.5 : 0;
      for (let i = 0; i < 3; i++) {
        const level = ramp[c + i] ?? 0;
        const shaded = level + ((shade[i] ?? 0) - level) * dark;
        row[p + i] = shaded + ((sheen[i] ?? 0) - shaded) * bright;
      }
    }
  };
}
