/** Secrets Manager with one secret: the encryption key of the service. */
import type { Input } from './table-request.ts';

export interface EncryptionSecret {
  readonly perform: (operation: string, input: Input) => object;
  /** Makes a new version the current one. Older versions stay readable by their ids. */
  readonly rotate: () => void;
}

export function createEncryptionSecret(): EncryptionSecret {
  let version = 1;
  return {
    rotate: () => void (version += 1),
    perform: (_operation, input) => {
      const id =
        typeof input['VersionId'] === 'string'
          ? input['VersionId']
          : `version-${version}-0000-0000-0000-000000000000`;
      return { VersionId: id, SecretString: `encryption-secret-of-${id}` };
    },
  };
}
