import { modelNotFound, unknownRoute } from '../api/problems.ts';
import { usableModels } from '../api/usable-models.ts';
import type { Model } from '../catalog/catalog-schema.ts';
import { methodsOf, openaiOperations, openaiRoot } from '../contract/operations.ts';
import { modelIdOf } from './fields.ts';
import type { OpenaiModelServices } from './open.ts';
import { jsonAnswer, type OpenaiHandle } from './serve-openai.ts';

/** The catalog does not say when a model came. Libraries want a time: 2026-09-21T14:13:20Z. */
const created = 1_790_000_000;

/** GET /models, /models/{id} and every unknown path of the endpoint, which is 404. */
export const openaiModels: OpenaiHandle<OpenaiModelServices> = async (request, caller, services) => {
  const { method, path, pathId } = request;
  const allowed = methodsOf(path, openaiRoot, openaiOperations);
  const isListed = path === `${openaiRoot}${openaiOperations.listOpenaiModels.path}`;
  if (method !== 'GET' || (!isListed && pathId === '')) {
    return Promise.reject(unknownRoute(method, path, allowed, openaiRoot));
  }
  const usable = usableModels(services.catalog, caller);
  if (isListed) return Promise.resolve(jsonAnswer({ object: 'list', data: usable.map(modelView) }));
  const id = modelIdOf(pathId, services.aliases);
  const model = usable.find((one) => one.id === id);
  return model ? Promise.resolve(jsonAnswer(modelView(model))) : Promise.reject(modelNotFound(pathId));
};

function modelView({ id }: Model): Record<string, unknown> {
  return { id, object: 'model', created, owned_by: 'darkroom' };
}
