/** The tables of docs/client.md name everything that the package has. */
import { describe, expect, it } from 'vitest';
import * as client from '../../client/src/index.ts';
import { firstColumn, readPage, sectionOf } from '../docs/pages.ts';
import { stub } from './stub.ts';

const page = readPage('docs/client.md');

describe('docs/client.md', () => {
  it('The table of errors has every class of errors, and nothing else', () => {
    const classes = Object.entries(client)
      .filter(([, one]) => typeof one === 'function' && one.prototype instanceof client.DarkroomError)
      .map(([name]) => name);
    expect(firstColumn(sectionOf(page, '## Errors')).toSorted()).toEqual(classes.toSorted());
  });

  it('The table of calls has every call of the client, and nothing else', () => {
    const { darkroom } = stub([]);
    const calls = Object.entries(darkroom).flatMap(([room, part]: [string, unknown]) =>
      typeof part === 'object' && part !== null
        ? Object.getOwnPropertyNames(Object.getPrototypeOf(part))
            .filter((name) => !internal.includes(name))
            .map((name) => `${room}.${name}`)
        : [],
    );
    const named = firstColumn(sectionOf(page, '## Calls')).map(
      (cell) => /^`(\w+\.\w+)/.exec(cell)?.[1] ?? cell,
    );
    expect(named.toSorted()).toEqual(calls.toSorted());
  });
});

/** Methods that only the client itself calls. The declarations of the package do not have them. */
const internal: readonly string[] = ['constructor', 'read', 'waitSince'];
