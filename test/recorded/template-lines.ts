/** The templates as lines, one for each resource, so that a difference names the resource. */
import { readStack, type StackName } from '../stack/two-stacks.ts';

export const templateFile = new URL('template.json', import.meta.url);

/** All lines of the stack without settings, and those in which the stack with every setting differs from it. */
export function templateLines(): string[] {
  const plain = linesOf('plain');
  const known = new Set(plain);
  return [
    ...plain,
    ...linesOf('full')
      .filter((line) => !known.has(line))
      .map((line) => `with settings: ${line}`),
  ];
}

function linesOf(name: StackName): string[] {
  const { Resources, Outputs } = readStack(name);
  return Object.entries({ ...Resources, ...Outputs }).map(([id, member]) =>
    // The metadata name folders of the machine.
    withoutHashes(`${id} ${JSON.stringify({ ...member, Metadata: undefined })}`).replaceAll(
      `darkroom-${name}`,
      'darkroom',
    ),
  );
}

/** Hashes of bundles change with each line of the code, and versions and deployments have them in their ids. */
function withoutHashes(line: string): string {
  return line
    .replace(/[0-9a-f]{64}/g, '<asset>')
    .replace(/((?:CurrentVersion|Deployment)[0-9A-F]{8})[0-9a-f]{32}/g, '$1<hash>');
}
