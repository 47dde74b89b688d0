import type { Adapter, AdapterConstructor, AdapterPayload } from 'oidc-provider';

/** The provider's sessions and codes, in memory. The provider itself looks at their expiry. */
export function createMemory(): AdapterConstructor {
  const items = new Map<string, AdapterPayload>();
  const find = (matches: (payload: AdapterPayload) => boolean): Promise<AdapterPayload | undefined> =>
    Promise.resolve([...items.values()].find(matches));
  return class Memory implements Adapter {
    readonly model: string;
    constructor(model: string) {
      this.model = model;
    }
    upsert(id: string, payload: AdapterPayload): Promise<undefined> {
      items.set(`${this.model}:${id}`, payload);
      return Promise.resolve(undefined);
    }
    find(id: string): Promise<AdapterPayload | undefined> {
      return Promise.resolve(items.get(`${this.model}:${id}`));
    }
    findByUid(uid: string): Promise<AdapterPayload | undefined> {
      return find((payload) => payload.uid === uid && payload.kind === this.model);
    }
    findByUserCode(): Promise<undefined> {
      return Promise.resolve(undefined);
    }
    consume(id: string): Promise<undefined> {
      const payload = items.get(`${this.model}:${id}`);
      if (payload) payload.consumed = Math.floor(Date.now() / 1000);
      return Promise.resolve(undefined);
    }
    destroy(id: string): Promise<undefined> {
      items.delete(`${this.model}:${id}`);
      return Promise.resolve(undefined);
    }
    revokeByGrantId(grantId: string): Promise<undefined> {
      for (const [key, payload] of items) if (payload.grantId === grantId) items.delete(key);
      return Promise.resolve(undefined);
    }
  };
}
