import { fileURLToPath } from 'node:url';
import { answerCloudFormation } from '../../adapters/custom-resource.ts';
import { createPageFiles } from '../../adapters/page-files.ts';
import { createPageStore } from '../../adapters/s3-pages.ts';
import type { PageAddresses } from '../../core/portal/page-files.ts';
import type { PageFiles, PageStore } from '../../core/ports/pages.ts';
import { commonServices, type CommonServices } from './common.ts';
import { awsEnvironment, environment } from './environment.ts';

/** For the function that puts the portal's pages into their bucket. */
export interface PagesServices extends CommonServices {
  readonly files: PageFiles;
  readonly store: PageStore;
  readonly bucket: string;
  readonly addresses: PageAddresses;
  readonly answer: (url: string, answer: object) => Promise<void>;
}

export function pagesServices(): PagesServices {
  const bucket = environment('PAGES_BUCKET');
  return {
    ...commonServices('publish-pages'),
    // The bundle has the pages beside its code.
    files: createPageFiles(fileURLToPath(new URL('pages/', import.meta.url))),
    store: createPageStore({ bucket, ...awsEnvironment() }),
    bucket,
    addresses: { portalUrl: environment('PORTAL_URL'), apiUrl: environment('API_URL') },
    answer: answerCloudFormation,
  };
}
