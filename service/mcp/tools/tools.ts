import { getBalance, listModels } from './account.ts';
import { cancelCreation, getCreation, listCreations } from './creations.ts';
import { generateImage, quoteImage } from './images.ts';
import type { Tool } from './tool.ts';

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
