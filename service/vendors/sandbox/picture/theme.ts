import type { Dice } from './noise.ts';
import { type PaletteName, paletteNames } from './colour.ts';
import type { Scenery } from './landscape.ts';

export type Motif = Scenery | 'silk' | 'paper-cut' | 'tiles';

export interface Theme {
  readonly motif: Motif;
  readonly palette: PaletteName;
}

interface Hint {
  readonly words: RegExp;
  readonly motifs?: readonly [Motif, ...Motif[]];
  readonly palettes?: readonly [PaletteName, ...PaletteName[]];
}

/** Words that choose motif and palette, specific words first: the first with each gives it. */
const motifHints: readonly Hint[] = [
  { words: /\b(aurora|northern lights?|polar)\b/, motifs: ['aurora'], palettes: ['boreal'] },
  { words: /\b(paper|cave|map|topograph\w*|layers?|geode|coral)\b/, motifs: ['paper-cut'] },
  { words: /\b(silk\w*|cloth|fabric|dress|fluid|liquid|smoke|marble|music|portrait)\b/, motifs: ['silk'] },
  { words: /\b(patterns?|geometr\w*|bauhaus|tiles?|mosaic|logo|icons?)\b/, motifs: ['tiles'] },
  {
    words: /\b(desert|dunes?|sahara|sand|camels?|canyon)\b/,
    motifs: ['dunes'],
    palettes: ['sahara', 'ember', 'dawn'],
  },
  {
    words:
      /\b(seas?|oceans?|beach|islands?|waves?|sail\w*|boats?|ships?|coast\w*|harbou?r|lighthouse|whales?)\b/,
    motifs: ['sea'],
  },
  {
    words: /\b(forests?|woods?|trees?|pines?|jungle|fox|bears?|deer|wol(f|ves)|owls?|cabin|gardens?)\b/,
    motifs: ['forest'],
  },
  {
    words: /\b(mountains?|peaks?|alps|alpine|valleys?|hills?|lakes?|fjords?|castles?|dragons?|landscapes?)\b/,
    motifs: ['mountains'],
  },
  { words: /\b(posters?|city|buildings?|architecture|robots?)\b/, motifs: ['tiles'] },
  { words: /\b(abstract|dreams?|colou?r\w*)\b/, motifs: ['silk', 'paper-cut', 'tiles'] },
  {
    words: /\b(night|midnight|moon\w*|stars?|starry|galaxy|space|nocturn\w*)\b/,
    palettes: ['midnight', 'boreal'],
    motifs: ['aurora', 'mountains', 'forest', 'sea'],
  },
  { words: /\b(sunset|dusk|evening|fire|lava|volcano\w*|red|neon)\b/, palettes: ['ember', 'sahara'] },
  {
    words: /\b(snow\w*|winter|ice|icy|frost\w*|arctic|glaciers?)\b/,
    palettes: ['glacier'],
    motifs: ['mountains', 'forest'],
  },
  { words: /\b(sunrise|dawn|morning|mist\w*|fog\w*)\b/, palettes: ['dawn', 'blossom', 'sage'] },
  { words: /\b(autumn|fall|harvest|golden?|coffee|brown)\b/, palettes: ['harvest', 'sahara'] },
  {
    words: /\b(spring|cherry|blossoms?|sakura|pink|flowers?|roses?)\b/,
    palettes: ['blossom'],
    motifs: ['mountains', 'silk', 'paper-cut'],
  },
  { words: /\b(ink|zen|japan\w*|minimal\w*|black|white|monochrome|sketch)\b/, palettes: ['ink'] },
  { words: /\b(green|forests?|moss|tea|leaf|leaves)\b/, palettes: ['sage', 'harvest', 'dawn'] },
  {
    words: /\b(seas?|oceans?|blue|turquoise|tropical|beach|lagoon|water)\b/,
    palettes: ['lagoon', 'dawn', 'ember'],
  },
];

const allMotifs: readonly [Motif, ...Motif[]] = [
  'mountains',
  'forest',
  'dunes',
  'sea',
  'aurora',
  'silk',
  'paper-cut',
  'tiles',
];

/** The palettes for silk without a wish. Folds in earth tones look like meat, so there are none. */
const silks: readonly [PaletteName, ...PaletteName[]] = [
  'lagoon',
  'midnight',
  'blossom',
  'boreal',
  'ember',
  'dawn',
  'glacier',
];

/**
 * Chooses the theme by the known words of the prompt. The dice choose what no known word decides. The first hint
 * of the negative prompt takes its motifs and its palettes away.
 */
export function themeOf(prompt: string, dice: Dice, negativePrompt = ''): Theme {
  const hints = hintsOf(prompt);
  const unwanted = hintsOf(negativePrompt);
  const motifs = hints.find((hint) => hint.motifs)?.motifs ?? allMotifs;
  const motif = dice.pick(without(unwanted.find((hint) => hint.motifs)?.motifs, motifs, allMotifs));
  // Northern lights need the palette of a night, even if a word of the prompt asks for another palette.
  if (motif === 'aurora') return { motif, palette: dice.pick(['boreal', 'boreal', 'midnight']) };
  const free = motif === 'silk' ? silks : paletteNames;
  const palettes = hints.find((hint) => hint.palettes)?.palettes ?? free;
  return {
    motif,
    palette: dice.pick(without(unwanted.find((hint) => hint.palettes)?.palettes, palettes, free)),
  };
}

function hintsOf(text: string): readonly Hint[] {
  const lower = text.toLowerCase();
  return motifHints.filter(({ words }) => words.test(lower));
}

/** The wished values that are not unwanted; if none is left, all others that are not. */
function without<Value>(
  unwanted: readonly Value[] = [],
  wished: readonly [Value, ...Value[]],
  all: readonly [Value, ...Value[]],
): readonly [Value, ...Value[]] {
  const isWanted = (value: Value): boolean => !unwanted.includes(value);
  const [first, ...rest] = wished.some(isWanted) ? wished.filter(isWanted) : all.filter(isWanted);
  return first === undefined ? wished : [first, ...rest];
}
