import { Problem } from '../values/problem.ts';

export function accountNotFound(): Problem {
  return new Problem('ERR_NOT_FOUND', 'There is no account with this id.');
}
