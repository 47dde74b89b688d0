/** Asks AWS one thing. What AWS refuses to tell becomes a finding of its own, and never ends the command. */

/** A question that AWS did not answer. The message says what is missing, such as a permission. */
export class CannotAsk extends Error {
  override readonly name = 'CannotAsk';
}

/** The names that services give to a missing permission. Their errors have no common one. */
const denials = new Set([
  'AccessDenied',
  'AccessDeniedException',
  'AuthorizationError',
  'AuthorizationErrorException',
  'ForbiddenException',
  'NotAuthorizedException',
  'UnauthorizedException',
  'UnauthorizedOperation',
]);

/** Gives the answer. Throws CannotAsk, which names the permission when this is what is missing. */
export async function askAws<Answer>(permission: string, send: () => Promise<Answer>): Promise<Answer> {
  try {
    return await send();
  } catch (error) {
    throw cannotAsk(permission, error);
  }
}

/**
 * Like askAws, for a thing that may not exist: then undefined.
 * @param isAbsent tells the error that means so
 */
export async function askForOne<Answer>(
  permission: string,
  send: () => Promise<Answer>,
  isAbsent: (error: Error) => boolean,
): Promise<Answer | undefined> {
  try {
    return await send();
  } catch (error) {
    if (error instanceof Error && isAbsent(error)) return undefined;
    throw cannotAsk(permission, error);
  }
}

/** For askForOne: the error has one of these names. */
export const named =
  (...names: readonly string[]) =>
  ({ name }: Error): boolean =>
    names.includes(name);

function cannotAsk(permission: string, error: unknown): CannotAsk {
  if (!(error instanceof Error)) return new CannotAsk(String(error));
  const why = denials.has(error.name) ? `needs ${permission}` : `${error.name}: ${error.message}`;
  return new CannotAsk(why, { cause: error });
}

/** CloudFormation has no error of its own for a stack that does not exist. */
export function isNoSuchStack({ name, message }: Error): boolean {
  return name === 'ValidationError' && message.includes('does not exist');
}
