/**
 * The examples of the document: answers of a running service. test/docs/api-examples.test.ts compares each
 * with what the service answers today.
 */
import answers from './examples.json' with { type: 'json' };

export type ExampleName = keyof typeof answers;

/** The examples of a response, by their names. */
export function examplesOf(
  ...names: readonly ExampleName[]
): Record<string, { readonly value: unknown }> | undefined {
  if (names.length === 0) return undefined;
  return Object.fromEntries(names.map((name) => [name, { value: answers[name] }]));
}
