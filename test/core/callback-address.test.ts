import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { isCapability, newCallbackAddress } from '../../core/callback-address.ts';
import { creationId, seededBytes } from '../fixtures/records.ts';

const { url, hash } = newCallbackAddress('https://api.test', 'fal', creationId, seededBytes);
const capability = url.slice(url.lastIndexOf('/') + 1);

describe('the address of a callback', () => {
  it('The address ends in the capability, which is 32 random bytes', () => {
    expect(url).toBe(`https://api.test/callbacks/v1/fal/${creationId}/${capability}`);
    expect(Buffer.from(capability, 'base64url')).toEqual(Buffer.from(seededBytes(32)));
  });

  it('The stored hash is the SHA-256 of the capability as it stands in the address', () => {
    expect(hash).toBe(createHash('sha256').update(capability).digest('hex'));
  });

  it('Only the capability of the address is accepted', () => {
    expect(isCapability(capability, hash)).toBe(true);
    const other = `${capability.startsWith('B') ? 'C' : 'B'}${capability.slice(1)}`;
    for (const wrong of [other, capability.slice(1), `${capability}A`, `${capability}=`, '', hash])
      expect(isCapability(wrong, hash), wrong).toBe(false);
  });

  it('An attempt whose stored hash is broken has no capability', () => {
    expect(isCapability(capability, '')).toBe(false);
    expect(isCapability(capability, hash.slice(2))).toBe(false);
  });
});
