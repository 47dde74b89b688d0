import { registerHooks } from 'node:module';
import type { Narrow } from '../../clients/narrow-scenarios.ts';

/** A planted bug: a few words of one file of the product, and what stands there instead. */
export interface Mutant {
  readonly name: string;
  readonly file: string;
  readonly find: string;
  readonly replace: string;
  /** The scenarios of one subject that catch it. Absent: all scenarios. */
  readonly narrow?: Narrow;
}

/** By the file and the name of each bug: the words, and what stands there instead. */
export type Bugs = Readonly<
  Record<string, Readonly<Record<string, readonly [find: string, replace: string, caughtBy?: Narrow]>>>
>;

const root = new URL('../../../../', import.meta.url);

/**
 * Plants a bug while Node loads its file, so the product must not be imported yet. The load throws when the
 * file does not hold the text exactly once.
 */
export function plant({ file, find, replace, name }: Mutant): void {
  const target = new URL(file, root).href;
  registerHooks({
    load: (url, context, next) => {
      const loaded = next(url, context);
      if (url !== target) return loaded;
      const text =
        typeof loaded.source === 'string' ? loaded.source : new TextDecoder().decode(loaded.source);
      if (text.split(find).length !== 2) throw new Error(`mutant ${name}: its text is not once in ${file}`);
      return { ...loaded, source: text.replace(find, () => replace) };
    },
  });
}
