#!/usr/bin/env node
import '../dist/operator.js';
