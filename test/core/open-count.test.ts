import { describe, expect, it } from 'vitest';
import { uuidV7, type CreationId } from '../../core/ids.ts';
import {
  isSampled,
  nextAnchor,
  openNow,
  sampledCount,
  sampledOneIn,
  withTurn,
} from '../../core/open-count.ts';
import { measureAdmission, type ModelOptions } from './open-count-model.ts';

const idAt = (turn: number, fill = 0x5a): CreationId =>
  uuidV7(1_700_000_000_000, withTurn(new Uint8Array(16).fill(fill), turn)) as CreationId;

describe('the sample of open creations', () => {
  it.each([
    [1, 2],
    [1_999, 2],
    [2_000, 4],
    [7_999, 4],
    [8_000, 8],
    [1_000_000, 8],
  ])('With a capacity of %d, one creation in %d is in the sample', (capacity, oneIn) => {
    expect(sampledOneIn(capacity)).toBe(oneIn);
  });

  it.each([2, 4, 8])('Of any eight creations of one environment, one in %d is in the sample', (oneIn) => {
    for (const first of [0, 3, 250, 4_000_000_001]) {
      const ids = Array.from({ length: 8 }, (_, place) => idAt(first + place, first % 256));
      expect(sampledCount(ids, oneIn)).toBe(8);
      expect(ids.filter((id) => isSampled(id, oneIn))).toHaveLength(8 / oneIn);
    }
  });

  it('A turn changes three bits of the id and nothing else', () => {
    const bytes = Uint8Array.from({ length: 16 }, (_, place) => 0xf0 | place);
    expect([...withTurn(bytes, 13)].map((byte, place) => byte ^ (bytes[place] ?? 0))).toEqual([
      ...Array.from({ length: 11 }, () => 0),
      0xfb ^ 0xfd,
      ...Array.from({ length: 4 }, () => 0),
    ]);
  });
});

describe('the estimate of open creations', () => {
  it('It is the last count, and what the running count changed since', () => {
    expect(openNow({ counted: 900, running: 40 }, 140)).toBe(1_000);
    expect(openNow({ counted: 900, running: -40 }, -140)).toBe(800);
  });

  it('It is never negative', () => {
    expect(openNow({ counted: 3, running: 40 }, 0)).toBe(0);
  });

  it('Without a running count of the last count, it is the last count', () => {
    expect(openNow({ counted: 7 }, 800)).toBe(7);
  });
});

describe('the next anchor', () => {
  it('The first count is taken as it is', () => {
    expect(nextAnchor({ counted: 5 }, 1_000, 300, 4)).toEqual({ counted: 1_000, running: 300 });
  });

  it('A difference that chance explains is corrected by a quarter', () => {
    const anchor = nextAnchor({ counted: 2_000, running: 0 }, 2_040, 0, 4);
    expect(openNow(anchor, 0)).toBe(2_010);
    expect(openNow(nextAnchor(anchor, 2_040, 0, 4), 0)).toBe(2_017);
  });

  it('A difference that chance does not explain is corrected as a whole', () => {
    expect(openNow(nextAnchor({ counted: 2_000, running: 0 }, 1_500, 0, 4), 0)).toBe(1_500);
    expect(openNow(nextAnchor({ counted: 0, running: 0 }, 1_500, 0, 4), 0)).toBe(1_500);
  });
});

/** Each case with the part of the capacity within which the open creations stay while the service is full. */
const cases: readonly (readonly [name: string, within: number, options: Omit<ModelOptions, 'seed'>])[] = [
  [
    '15,000 open creations of 15 s, while arrivals go from 500 to 2,000 and 1,000 a second',
    0.05,
    {
      capacity: 15_000,
      arrivals: [
        [0, 500],
        [40, 2_000],
        [150, 1_000],
        [190, 1_400],
      ],
      seconds: 300,
      openSeconds: [15],
    },
  ],
  [
    '2,000 open creations of 15 s at 133 a second',
    0.06,
    { capacity: 2_000, arrivals: [[0, 133 * 1.1]], seconds: 600, openSeconds: [15] },
  ],
  [
    '2,000 open creations, half of 5 s and half of 60 s',
    0.1,
    { capacity: 2_000, arrivals: [[0, 90]], seconds: 600, openSeconds: [5, 60] },
  ],
  [
    '15,000 open creations while one note in a hundred is lost',
    0.06,
    { capacity: 15_000, arrivals: [[0, 1_200]], seconds: 180, openSeconds: [15], lost: 0.01 },
  ],
];

describe('admission', () => {
  it.each(cases)('It keeps %s within %d of the capacity', (_name, within, options) => {
    const measured = measureAdmission({ ...options, seed: 7 });
    expect(measured.most).toBeLessThan(1 + within);
    expect(measured.least).toBeGreaterThan(1 - within);
    expect(measured.fullShare).toBeGreaterThan(0.5);
    expect(measured.writesEach).toBeLessThanOrEqual(2 / sampledOneIn(options.capacity));
  });

  it('Without the notes of ends it leaves more than a tenth of the capacity empty', () => {
    const [, within, options] = cases[0] ?? [];
    if (within === undefined || !options) throw new Error('there is no case');
    expect(measureAdmission({ ...options, seed: 7, notesEnds: false }).least).toBeLessThan(0.5);
  });
});
