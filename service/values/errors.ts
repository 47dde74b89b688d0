/** DynamoDB was too busy until the retries were used up. Nothing was written. */
export class Overloaded extends Error {
  override readonly name = 'Overloaded';
}

/** No answer says whether a write was made. Read the stored state before repeating the write. */
export class OutcomeUnknown extends Error {
  override readonly name = 'OutcomeUnknown';
}

/** The name of an error in a JSON answer of AWS: "com.amazonaws.x#UsernameExistsException", or alone. */
export function awsErrorName(text: string): string {
  try {
    const { __type: type } = JSON.parse(text) as { __type?: unknown };
    return typeof type === 'string' ? type.replace(/^.*#/, '') : 'without a name';
  } catch {
    return 'without a name';
  }
}
