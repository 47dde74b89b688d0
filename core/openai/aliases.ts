/** Names of models that libraries know, and the models of the catalog that stand in for them. */
export type Aliases = Readonly<Record<string, string>>;

/** What the OpenAI API renders when a request names no model. */
const unnamed = 'dall-e-2';

/**
 * The id of the model that a request means. An alias of the operator wins over a model of the same name.
 * @param name undefined when the request names no model; then the answer may be undefined, too
 */
export function modelIdOf<Name extends string | undefined>(name: Name, aliases: Aliases): Name | string {
  const wanted = name ?? unnamed;
  return Object.hasOwn(aliases, wanted) ? (aliases[wanted] ?? name) : name;
}
