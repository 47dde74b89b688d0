/** Checks that the catalog's schema cannot express: prices, defaults and routes of a model fit together. */
import type { Model } from '../../service/catalog/catalog-schema.ts';
import { offered, routesFor } from '../../service/catalog/catalog.ts';
import { resolutions } from '../../service/contract/request-fields.ts';

export interface ModelProblem {
  /** The field inside the model, such as pricing[1].resolution. */
  readonly path: string;
  readonly text: string;
}

export function modelProblems(model: Model): ModelProblem[] {
  return [...pricingProblems(model), ...defaultProblems(model), ...routeProblems(model)];
}

/** One price for each resolution that a route renders, and no other price. */
function pricingProblems({ pricing, routes }: Model): ModelProblem[] {
  const rendered = offered(resolutions, routes, (route) => route.resolutions);
  const priced = pricing.map(({ resolution }) => resolution);
  return [
    ...rendered
      .filter((resolution) => !priced.includes(resolution))
      .map((resolution) => ({
        path: 'pricing',
        text: `has no price for ${resolution}, which a route renders`,
      })),
    ...priced.flatMap((resolution, index) => {
      const path = `pricing[${index}].resolution`;
      if (!rendered.includes(resolution)) return [{ path, text: `no route renders ${resolution}` }];
      return priced.indexOf(resolution) < index ? [{ path, text: `${resolution} has a price already` }] : [];
    }),
  ];
}

function defaultProblems(model: Model): ModelProblem[] {
  const shape = {
    resolution: model.default_resolution,
    aspectRatio: model.default_aspect_ratio,
    outputFormat: model.default_output_format,
    promptLength: 1,
    imageCount: 0,
  };
  const { resolution, aspectRatio, outputFormat } = shape;
  if (routesFor(model.routes, shape).length === 0)
    return [
      {
        path: 'default_resolution',
        text: `no route renders the defaults ${resolution}, ${aspectRatio} and ${outputFormat} together`,
      },
    ];
  const longest = { ...shape, promptLength: model.max_prompt_length };
  return routesFor(model.routes, longest).length === 0
    ? [{ path: 'max_prompt_length', text: 'no route takes a prompt of this length' }]
    : [];
}

function routeProblems({ routes, max_image_urls: mostImages }: Model): ModelProblem[] {
  const names = routes.map(({ provider, provider_model: model, quality }) =>
    JSON.stringify([provider, model, quality]),
  );
  const problems = routes.flatMap((route, index): ModelProblem[] => {
    const path = `routes[${index}]`;
    return [
      ...(names.indexOf(names[index] ?? '') < index ? [{ path, text: 'this route is there already' }] : []),
      ...((route.source_limits === null) === (route.max_image_urls === 0)
        ? []
        : [{ path: `${path}.source_limits`, text: 'must be null exactly where max_image_urls is 0' }]),
      ...(route.quality !== null && route.qualities !== undefined
        ? [{ path: `${path}.qualities`, text: 'must be absent where quality is set' }]
        : []),
      ...(route.max_image_urls > mostImages
        ? [
            {
              path: `${path}.max_image_urls`,
              text: `must be at most that of the model, which is ${mostImages}`,
            },
          ]
        : []),
    ];
  });
  const most = Math.max(...routes.map((route) => route.max_image_urls));
  return most < mostImages
    ? [...problems, { path: 'max_image_urls', text: `no route takes more than ${most}` }]
    : problems;
}
