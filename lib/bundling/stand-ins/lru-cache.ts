/** Stands in for mnemonist/lru-cache: 7 KB for endpoint discovery, which is off and which DynamoDB no longer uses. */
export default class LruCache<Key, Value> extends Map<Key, Value> {
  constructor(_capacity: number) {
    super();
  }

  peek(key: Key): Value | undefined {
    return this.get(key);
  }
}
