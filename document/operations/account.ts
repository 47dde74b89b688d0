/** What the document says of models, money and uploads of an account. */
import type { Documented } from '../operation.ts';
import { modelList } from '../schemas/models.ts';
import { balance } from '../schemas/money.ts';
import { upload, uploadRequest } from '../schemas/upload.ts';
import { user } from '../schemas/values.ts';

export const listModels: Documented<'listModels'> = {
  tag: 'Account',
  summary: 'List the models',
  description:
    'The catalog as this account can use it. A model that cannot be used has `available` false, empty lists and a reason.',
  query: {},
  answers: {
    successes: [
      { status: 200, description: 'The catalog of this account.', schema: modelList, examples: ['models'] },
    ],
  },
};

export const getBalance: Documented<'getBalance'> = {
  tag: 'Account',
  summary: 'Read the balance',
  description: 'What the account can spend, and the limits of the key of this request.',
  query: { user: user('Also tells what the key has spent for this user.').optional() },
  answers: {
    successes: [
      {
        status: 200,
        description: 'The balance of the account and the budgets of the key.',
        schema: balance,
        examples: ['balance'],
      },
    ],
  },
};

export const createUpload: Documented<'createUpload'> = {
  tag: 'Uploads',
  summary: 'Announce an upload',
  description:
    'Gives a signed address. PUT the file there with the headers of `upload_headers`, and name the upload in `image_urls`. Nothing is charged.',
  query: {},
  body: { schema: uploadRequest, examples: { png: { content_type: 'image/png', bytes: 123_456 } } },
  answers: {
    successes: [
      { status: 201, description: 'The upload is announced.', schema: upload, examples: ['upload'] },
    ],
    refusals: ['tooManyUploads'],
    takesBody: true,
  },
};
