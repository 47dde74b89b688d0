import { cancelCreation } from './cancel-creation.ts';
import { generateImage } from './generate-image.ts';
import { getBalance } from './get-balance.ts';
import { getCreation } from './get-creation.ts';
import { listCreations } from './list-creations.ts';
import { listModels } from './list-models.ts';
import { quoteImage } from './quote-image.ts';
import type { Tool } from './tool.ts';

/** Every tool, in the order in which clients see them. */
export const tools: readonly Tool[] = [
  listModels,
  quoteImage,
  generateImage,
  getCreation,
  listCreations,
  cancelCreation,
  getBalance,
];

export function findTool(name: string): Tool | undefined {
  return tools.find((tool) => tool.name === name);
}
