/**
 * Lets one signal end as much in a test as in a program: an operator subscribes more than ten handlers
 * until it stops, and the hub one for each of the hundreds of JobSets that it reads at once. Far more than
 * that is a leak, and Node.js says so.
 */
import { setMaxListeners } from 'node:events';

const MAX_LISTENERS_PER_SIGNAL = 1000;

setMaxListeners(MAX_LISTENERS_PER_SIGNAL);
