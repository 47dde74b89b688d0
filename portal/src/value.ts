/** A value outside of the pages that pages follow. */
import { useEffect, useState } from 'preact/hooks';

export interface Value<Type> {
  get(): Type;
  set(value: Type): void;
  subscribe(listener: () => void): () => void;
}

export function createValue<Type>(initial: Type): Value<Type> {
  let current = initial;
  const listeners = new Set<() => void>();
  return {
    get: () => current,
    set: (value) => {
      current = value;
      for (const listener of [...listeners]) listener();
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

export function useValue<Type>(value: Value<Type>): Type {
  const [, redraw] = useState({});
  useEffect(() => value.subscribe(() => redraw({})), [value]);
  return value.get();
}
