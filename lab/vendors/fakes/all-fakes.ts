/** The fakes of all vendors, by the name of the provider that calls the vendor. */
import type { VendorName } from '../../../service/catalog/providers.ts';
import { fakeAlibaba } from './alibaba/server.ts';
import { fakeBedrock } from './bedrock/server.ts';
import { fakeBfl } from './bfl/server.ts';
import { fakesInCommonShape } from './compatible/server.ts';
import type { Fake } from './facts.ts';
import { fakeFal } from './fal/server.ts';
import { fakeGoogle } from './google/server.ts';
import { fakeIdeogram } from './ideogram/server.ts';
import { fakeOpenai } from './openai/server.ts';
import { fakeReplicate } from './replicate/server.ts';

export const fakes: Readonly<Record<VendorName, Fake>> = {
  bedrock: fakeBedrock,
  openai: fakeOpenai,
  google: fakeGoogle,
  bfl: fakeBfl,
  fal: fakeFal,
  replicate: fakeReplicate,
  alibaba: fakeAlibaba,
  ideogram: fakeIdeogram,
  ...fakesInCommonShape,
};

export const vendorNames = Object.keys(fakes).filter((name): name is VendorName =>
  Object.hasOwn(fakes, name),
);
