/**
 * Every source file says within its first ten lines what it is for, and every comment begins with a
 * word that needs no other sentence before it.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from './root.ts';
