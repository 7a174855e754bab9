import { randomConformance } from '../ports/random.conformance.ts';
import { systemRandom } from './system-random.ts';

randomConformance('systemRandom', () => systemRandom);
