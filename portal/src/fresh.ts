/**
 * What a person began when the service asked for a fresh sign-in. It is kept in this tab alone while the browser
 * visits the issuer. The way back holds its id, so that nothing is finished that the person did not come back for.
 */
import {
  signInParameters,
  signInPaths,
  type PortalOperationName,
} from '../../service/contract/operations.ts';
import type { Input } from '../../service/contract/portal-calls.ts';
import { currentOwner } from './kept.ts';
import { currentPath, href } from './router.ts';
import { createValue } from './value.ts';

interface Begun {
  readonly id: string;
  /** Who began it, and in which account. */
  readonly of: string;
  readonly operation: PortalOperationName;
  readonly input: Input;
  readonly atMillis: number;
}

const storageName = 'darkroom.begun';
const parameter = 'continue';
const longestMillis = 15 * 60_000;

/** What waits for a fresh sign-in. A dialog of the shell asks for it. */
export const waiting = createValue<Pick<Begun, 'operation' | 'input'> | null>(null);

/** The address that signs in and leads back to the page that is shown. */
export const signInAddress = (page = currentPath()): string =>
  `${signInPaths.login}?${signInParameters.returnTo}=${encodeURIComponent(href(page))}`;

/** Keeps what was begun, and leaves for a fresh sign-in. */
export function signInAfresh({ operation, input }: Pick<Begun, 'operation' | 'input'>): void {
  const begun: Begun = {
    id: crypto.randomUUID(),
    of: currentOwner(),
    operation,
    input,
    atMillis: Date.now(),
  };
  sessionStorage.setItem(storageName, JSON.stringify(begun));
  const back = signInAddress(currentPath({ [parameter]: begun.id }));
  location.assign(`${back}&${signInParameters.isFresh}=1`);
}

function takeBegun(): Begun | undefined {
  const text = sessionStorage.getItem(storageName);
  const here = new URL(location.href);
  const id = here.searchParams.get(parameter);
  if (id !== null) {
    here.searchParams.delete(parameter);
    history.replaceState(null, '', here.href);
  }
  sessionStorage.removeItem(storageName);
  if (text === null) return undefined;
  const begun = JSON.parse(text) as Begun;
  return begun.id === id && Date.now() - begun.atMillis < longestMillis ? begun : undefined;
}

let begun: Begun | undefined;

/** Reads what was begun, once, before the first page is shown. */
export function readBegun(): void {
  // A failed sign-in leads back with an error: then nothing is finished.
  begun = takeBegun();
}

/** The input of the operation when the person came back to finish it. */
export function begunInput<Name extends PortalOperationName>(name: Name): Input<Name> | undefined {
  return begun?.operation === name && begun.of === currentOwner() ? begun.input : undefined;
}

/** The same input, which is returned once. */
export function finishBegun<Name extends PortalOperationName>(name: Name): Input<Name> | undefined {
  const input = begunInput(name);
  if (input) begun = undefined;
  return input;
}
