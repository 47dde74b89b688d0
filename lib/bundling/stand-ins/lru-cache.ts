/**
 * Stands in the bundles for mnemonist/lru-cache, 7 KB that DynamoDB's client brings along
 * for endpoint discovery, which is off and which DynamoDB no longer uses. Holds nothing in
 * practice; were it used, a map without a limit would do for a handful of endpoints.
 */
export default class LruCache<Key, Value> extends Map<Key, Value> {
  constructor(_capacity: number) {
    super();
  }

  peek(key: Key): Value | undefined {
    return this.get(key);
  }
}
