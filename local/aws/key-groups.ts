/** The public keys and key groups of the stand-in of CloudFront. One file of the folder holds both. */
import { createPublicKey } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import * as z from 'zod';
import { replaceFile } from '../disk.ts';

const publicKeySchema = z.object({
  name: z.string(),
  callerReference: z.string(),
  /** PEM. */
  encodedKey: z.string(),
  createdAt: z.string(),
});
const keyGroupSchema = z.object({ name: z.string(), items: z.array(z.string()), modifiedAt: z.string() });
/** By their ids. Files of a data folder hold these names. */
const stateSchema = z.object({
  publicKeys: z.record(z.string(), publicKeySchema),
  keyGroups: z.record(z.string(), keyGroupSchema),
});
export type KeyState = z.output<typeof stateSchema>;

export type KeyGroups = ReturnType<typeof openKeyGroups>;

/** Opens the file. Each call runs in one turn of the event loop, so no two mix. */
export function openKeyGroups(file: string, { now }: { readonly now: () => number }) {
  let state: KeyState = existsSync(file)
    ? stateSchema.parse(JSON.parse(readFileSync(file, 'utf8')))
    : { publicKeys: {}, keyGroups: {} };
  const write = (next: KeyState): void => {
    replaceFile(file, JSON.stringify(next, undefined, 2));
    state = next;
  };
  return {
    read: (): KeyState => state,
    write,
    /** Adds what the template has and the file lacks. What the operator changed later stays. */
    ensure: (id: string, publicKeyId: string, encodedKey: string): void => {
      if (state.keyGroups[id]) return;
      const at = new Date(now()).toISOString();
      write({
        publicKeys: {
          ...state.publicKeys,
          [publicKeyId]: { name: publicKeyId, callerReference: publicKeyId, encodedKey, createdAt: at },
        },
        keyGroups: { ...state.keyGroups, [id]: { name: id, items: [publicKeyId], modifiedAt: at } },
      });
    },
    /** The key of this id, if one of the groups has it. */
    keyIn: (
      groups: readonly string[],
      publicKeyId: string,
    ): ReturnType<typeof createPublicKey> | undefined => {
      const isTrusted = groups.some((group) => state.keyGroups[group]?.items.includes(publicKeyId));
      const found = isTrusted ? state.publicKeys[publicKeyId] : undefined;
      return found && createPublicKey(found.encodedKey);
    },
  };
}
