/**
 * Each client of the AWS SDK registers a class for every error that its service can answer, so that no class is
 * ever left out of a bundle: 17 KB for DynamoDB and Step Functions together. The service asks nearly always for the
 * name of an error. An error without a class of its own is thrown as the client's base class, with the same name,
 * status and members.
 */

/** "n0_registry.registerError(ConflictException$, ConflictException);" as esbuild prints it without minifying. */
const registration = /^[\w$]+\.registerError\([\w$]+, ([\w$]+)\);\n/gm;
/** The class that stands for every other error of its client. */
const isBaseClass = /ServiceException\d*$/;

/**
 * The text of a bundle, not minified, without the registrations of errors whose class nobody asks for by
 * `instanceof`, and which the SDK does not mark as passing. The next pass of esbuild removes the classes. Throws when
 * a client of the SDK is in the bundle and no registration is found: then this function has to follow the SDK.
 */
export function withoutUnaskedErrors(bundle: string, inputs: readonly string[]): string {
  const asked = new Set([...bundle.matchAll(/instanceof ([\w$]+)/g)].map(([, name]) => name));
  const isKept = (name: string): boolean =>
    asked.has(name) || isBaseClass.test(name) || isMarkedAsPassing(bundle, name);
  let registrations = 0;
  const text = bundle.replace(registration, (statement, name: string) => {
    registrations += 1;
    return isKept(name) ? statement : '';
  });
  const hasClient = inputs.some((file) => /@aws-sdk\/client-[^/]+\/.*\/errors\.js$/.test(file));
  if (hasClient && registrations === 0) throw new Error('the bundle registers no error of the AWS SDK');
  return text;
}

/** The SDK repeats a call that failed with such an error, whatever its name. */
function isMarkedAsPassing(bundle: string, name: string): boolean {
  const start = bundle.search(
    new RegExp(`^(?:var ${name.replaceAll('$', '\\$')} = )?class (?:_)?${name.replaceAll('$', '\\$')} `, 'm'),
  );
  return start >= 0 && bundle.slice(start, bundle.indexOf('\n}', start)).includes('$retryable');
}
