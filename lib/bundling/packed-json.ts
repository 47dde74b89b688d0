/**
 * Writes the JSON files of the catalog into a bundle in a short form: two neighbouring symbols that occur often become
 * one (the algorithm Re-Pair of N. J. Larsson and A. Moffat, 1999). 28 KB become 6 KB of ASCII, and a start unpacks
 * them in 0.7 ms. Brotli would make 3 KB, but loading node:zlib takes a start 2 to 4 ms.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { transformSync } from 'esbuild';

/** Only these show what a model is, or its name. Every other function judges requests by the rest. */
const describing: readonly string[] = ['service/api/list-models.ts', 'service/portal/model-view.ts'];
const naming: readonly string[] = [...describing, 'service/operator/figures.ts'];

/** The values of these members in a packed file. Undefined: the member is left out. */
type Unread = Readonly<Record<string, '' | undefined>>;

/** The files that are packed where a bundle holds them, without what the modules of the bundle do not read. */
const packedFiles: Readonly<Record<string, (inputs: readonly string[]) => Unread>> = {
  // A model without a member would not be whole, and no model of a service with a catalog of its operator.
  'service/catalog/models.json': (inputs) =>
    Object.fromEntries(
      Object.entries({ description: describing, name: naming }).flatMap(([member, readers]) =>
        inputs.some((input) => readers.includes(input)) ? [] : [[member, '']],
      ),
    ),
  'service/catalog/provider-costs.json': () => ({ source: undefined, checked_at: undefined }),
};

/** Separates two rules. JSON.stringify() would escape it within a string. */
const separator = '\n';

/** A rule, which is two symbols, has a name of two characters. No packed text may hold one of the first ones. */
const firstCharacters = '~^`|#@$&';
const secondCharacters = Array.from({ length: 94 }, (_, index) => String.fromCharCode(0x21 + index))
  .filter((character) => !['"', '\\'].includes(character))
  .join('');
const firstCharacterPattern = new RegExp(`[${firstCharacters.replace('^', '\\^')}]`);
const mostRules = firstCharacters.length * secondCharacters.length;

/** Names and numbers, words of texts, and single characters. */
const symbolPattern = /"?[\w.]+ ?|[^]/g;

/**
 * The bundle's text with the short form of each packed file. Throws when a file is not in the text as esbuild
 * prints a JSON value: then this function has to follow esbuild.
 * @param bundle a minified module
 * @param inputs the bundled files, relative to `root`
 */
export function withPackedJson(bundle: string, inputs: readonly string[], root: string): string {
  return Object.entries(packedFiles)
    .filter(([file]) => inputs.includes(file))
    .reduce((text, [file, unread]) => {
      const json = readFileSync(join(root, file), 'utf8');
      const whole = printed(json);
      if (text.split(whole).length !== 2) throw new Error(`${file} is not once in the bundle`);
      return text.replace(whole, () => packed(without(json, unread(inputs))));
    }, bundle);
}

function without(json: string, unread: Unread): string {
  return JSON.stringify(
    JSON.parse(json, (name, value: unknown) => (Object.hasOwn(unread, name) ? unread[name] : value)),
  );
}

/** A JSON value as esbuild prints it in a minified bundle. */
function printed(json: string): string {
  const { code } = transformSync(`x=${json}`, { minify: true, target: 'node24' });
  return code.trim().slice('x='.length, -1);
}

/** Several bundles of one synthesis hold the same files. */
const packedBefore = new Map<string, string>();

/**
 * A JavaScript expression whose value is that of the JSON text. Throws when the text has a character that
 * the short form uses for itself.
 */
export function packed(json: string): string {
  const known = packedBefore.get(json);
  if (known !== undefined) return known;
  const whole = JSON.stringify(JSON.parse(json));
  if (/[^\x20-\x7e]/.test(whole) || firstCharacterPattern.test(whole))
    throw new Error(`a packed file is ASCII and has none of ${firstCharacters}`);
  const { rules, symbols } = pairs(whole.match(symbolPattern) ?? []);
  const expression = unpacking([...rules, symbols.join('')].join(separator));
  packedBefore.set(json, expression);
  return expression;
}

/** The code that replaces the names in each rule by the rules before it. The last rule is the whole text. */
function unpacking(text: string): string {
  const place = `${quoted(firstCharacters)}.indexOf(n[0])*${secondCharacters.length}+${quoted(secondCharacters)}.indexOf(n[1])`;
  const name = `/${firstCharacterPattern.source}./g`;
  return `JSON.parse((w=>{for(const r of ${quoted(text)}.split("\\n"))w.push(r.replace(${name},n=>w[${place}]));return w.at(-1)})([]))`;
}

/** In the quotes that need the fewest escapes: JSON is full of the double ones. */
function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll(separator, '\\n')}'`;
}

/** The name of a rule by its index. */
function nameOf(place: number): string {
  const length = secondCharacters.length;
  return `${firstCharacters[Math.floor(place / length)]}${secondCharacters[place % length]}`;
}

/** Replaces the pair that saves most, until no pair saves a byte. A rule may use the rules before it. */
function pairs(words: readonly string[]): { rules: readonly string[]; symbols: readonly string[] } {
  const rules: string[] = [];
  // A symbol is its place in this list: a pair of numbers is counted five times as fast as a pair of texts.
  const texts = [...new Set(words)];
  const places = new Map(texts.map((text, place) => [text, place]));
  let symbols = words.map((word) => places.get(word) ?? 0);
  while (rules.length < mostRules) {
    const pair = bestPair(symbols, texts);
    if (!pair) break;
    texts.push(nameOf(rules.length));
    rules.push(textOf(pair, texts));
    symbols = replaced(symbols, pair, texts.length - 1);
  }
  return { rules, symbols: symbols.map((place) => texts[place] ?? '') };
}

type Pair = readonly [first: number, second: number];

const textOf = (pair: Pair, texts: readonly string[]): string =>
  pair.map((place) => texts[place] ?? '').join('');

/** More than there are symbols. */
const base = 2 ** 20;

function bestPair(symbols: readonly number[], texts: readonly string[]): Pair | undefined {
  const uses = new Map<number, number>();
  let before = -1;
  for (let index = 0; index + 1 < symbols.length; index += 1) {
    const pair = (symbols[index] ?? 0) * base + (symbols[index + 1] ?? 0);
    // Of three equal symbols only two are a pair.
    if (pair === before) {
      before = -1;
      continue;
    }
    before = pair;
    uses.set(pair, (uses.get(pair) ?? 0) + 1);
  }
  let best: { readonly pair: Pair; readonly saved: number } | undefined;
  for (const [key, count] of uses) {
    // A pair that stands once saves nothing.
    if (count === 1) continue;
    const pair = [Math.floor(key / base), key % base] as const;
    const saved = savedBytes(textOf(pair, texts), count);
    if (saved > (best?.saved ?? 0)) best = { pair, saved };
  }
  return best?.pair;
}

/** Each use becomes two bytes. The rule itself costs its text and a separator. */
function savedBytes(text: string, uses: number): number {
  return uses * (text.length - 2) - text.length - 1;
}

function replaced(symbols: readonly number[], [first, second]: Pair, name: number): number[] {
  const next: number[] = [];
  for (let index = 0; index < symbols.length; index += 1) {
    const symbol = symbols[index] ?? 0;
    const isPair = symbol === first && symbols[index + 1] === second;
    next.push(isPair ? name : symbol);
    if (isPair) index += 1;
  }
  return next;
}
