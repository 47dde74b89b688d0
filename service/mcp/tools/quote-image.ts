import { quoteImage as quote } from '../../generate/quote-image.ts';
import { imageRequest } from './image-request.ts';
import { jsonOf } from './json-request.ts';
import { imageArguments, number, objectOf, optionalImageArguments, text } from './schemas.ts';
import { checkArguments, type Tool } from './tool.ts';

const input = objectOf(imageArguments, optionalImageArguments);

interface QuoteBody {
  readonly cost: number;
  readonly model: string;
  readonly resolution: string;
  readonly aspect_ratio: string;
  readonly available: number;
  readonly sufficient: boolean;
}

export const quoteImage: Tool = {
  name: 'quote_image',
  title: 'Quote an image',
  description: 'Tells what generate_image would cost with the same arguments. It charges nothing.',
  rate: 'get',
  annotations: { readOnlyHint: true, openWorldHint: false },
  input,
  output: objectOf({
    cost: number('The price in USD.'),
    model: text('The model that would render the image.'),
    resolution: text('Its size.'),
    aspect_ratio: text('Its shape.'),
    available: number('What the account can spend, in USD.'),
    sufficient: { type: 'boolean', description: 'Whether the account can pay the price.' },
  }),
  requestOf: (body) => ({ method: 'POST', body }),
  run: async (call) => {
    const { args, caller, services } = call;
    checkArguments(args, input);
    const answer = await quote(jsonOf(call.request, await imageRequest(call)), caller, services);
    const { cost, model, resolution, aspect_ratio, available, sufficient } = answer.body as QuoteBody;
    const enough = sufficient ? 'which is enough' : 'which is not enough';
    const sentence = `The image costs ${cost} USD (${model}, ${resolution}, ${aspect_ratio}). The account has ${available} USD, ${enough}.`;
    return {
      content: [{ type: 'text', text: sentence }],
      structuredContent: { cost, model, resolution, aspect_ratio, available, sufficient },
    };
  },
};
