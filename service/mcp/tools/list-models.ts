import { modelsOf } from './image-request.ts';
import { listOf, number, objectOf, text } from './schemas.ts';
import { checkArguments, type Tool } from './tool.ts';

const input = objectOf({});

export const listModels: Tool = {
  name: 'list_models',
  title: 'List models',
  description: 'Lists the models that the account can use, with their shapes, sizes and prices.',
  rate: 'get',
  annotations: { readOnlyHint: true, openWorldHint: false },
  input,
  output: objectOf({
    models: listOf(
      objectOf({
        id: text('For the argument model.'),
        name: text('The name for people.'),
        aspect_ratios: listOf({ type: 'string' }, 'The shapes that it renders.'),
        resolutions: listOf({ type: 'string' }, 'The sizes that it renders.'),
        max_image_urls: { type: 'integer', description: 'How many source images it takes.' },
        prices: listOf(
          objectOf({
            resolution: text('The size.'),
            usd: number('The price of one image, in USD.'),
            usd_per_input_image: number('What each source image adds, in USD.'),
          }),
          'One for each size.',
        ),
      }),
      'The models that are available now.',
    ),
  }),
  requestOf: () => ({ method: 'GET' }),
  run: async (call) => {
    checkArguments(call.args, input);
    const models = (await modelsOf(call))
      .filter(({ available }) => available)
      .map(({ id, name, aspect_ratios, resolutions, max_image_urls, pricing }) => ({
        id,
        name,
        aspect_ratios,
        resolutions,
        max_image_urls,
        prices: pricing,
      }));
    const structuredContent = { models };
    return { content: [{ type: 'text', text: JSON.stringify(structuredContent) }], structuredContent };
  },
};
