/** DynamoDB was too busy until the retries were used up. Nothing was written. */
export class Overloaded extends Error {
  override readonly name = 'Overloaded';
}

/**
 * No answer says whether a write was made. The caller has to read the stored state before it repeats the
 * write.
 */
export class OutcomeUnknown extends Error {
  override readonly name = 'OutcomeUnknown';
}

/**
 * The name of an error in the answer of a service of AWS that speaks JSON: "com.amazonaws.x#UsernameExistsException",
 * or the name alone. For calls without a client of the SDK.
 */
export function awsErrorName(text: string): string {
  try {
    const { __type: type } = JSON.parse(text) as { __type?: unknown };
    return typeof type === 'string' ? type.replace(/^.*#/, '') : 'without a name';
  } catch {
    return 'without a name';
  }
}
