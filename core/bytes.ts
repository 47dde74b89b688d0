/** Reads parts of a file. A byte after the end of the file counts as 0, and equals nothing. */

export function has(bytes: Uint8Array, at: number, expected: readonly number[]): boolean {
  return expected.every((byte, i) => bytes[at + i] === byte);
}

export function ascii(text: string): number[] {
  return Array.from(text, (character) => character.charCodeAt(0));
}

export function bigEndian(bytes: Uint8Array, at: number, count: number): number {
  let value = 0;
  for (let i = 0; i < count; i++) value = value * 256 + (bytes[at + i] ?? 0);
  return value;
}

export function littleEndian(bytes: Uint8Array, at: number, count: number): number {
  let value = 0;
  for (let i = count - 1; i >= 0; i--) value = value * 256 + (bytes[at + i] ?? 0);
  return value;
}
