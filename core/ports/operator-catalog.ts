/** The operator's catalog as it is stored. */
import type { OperatorCatalog } from '../operator-catalog.ts';
import { Overloaded } from './requests.ts';

/** Undefined: nothing was ever stored. Throws Overloaded, or NewerCatalog. */
export type ReadOperatorCatalog = () => Promise<OperatorCatalog | undefined>;

/**
 * A newer release has stored the operator's catalog in a form that this code does not understand. Requests are
 * refused as while the table is busy, so that nothing is sold at a wrong price.
 */
export class NewerCatalog extends Overloaded {}
